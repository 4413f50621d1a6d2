// seed does to etcd what the API server has no call for, or would take an hour for: creating 45,000 Services through
// it, as its address allocator is quadratic.
//
//	seed --services N --endpoints M   N Services `svc-I` in namespace `team-(I mod 20)`, each with a slice `svc-I-x` of M
//	                                  endpoints, and the Node `worker-1`, in the API server's storage format
//	seed --compact                    forgets everything before now
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

const objectsPerTransaction = 64

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "seed:", err)
		os.Exit(1)
	}
}

type store struct {
	etcd    *clientv3.Client
	format  *protobuf.Serializer
	pending []clientv3.Op
}

func (s *store) put(key string, object runtime.Object) {
	var bytes bytes.Buffer
	must(s.format.Encode(object, &bytes))
	s.pending = append(s.pending, clientv3.OpPut("/registry/"+key, bytes.String()))
	if len(s.pending) >= objectsPerTransaction {
		s.flush()
	}
}

func (s *store) flush() {
	if len(s.pending) == 0 {
		return
	}
	_, err := s.etcd.Txn(context.Background()).Then(s.pending...).Commit()
	must(err)
	s.pending = nil
}

func (s *store) compact() {
	answer, err := s.etcd.Get(context.Background(), "/")
	must(err)
	_, err = s.etcd.Compact(context.Background(), answer.Header.Revision, clientv3.WithCompactPhysical())
	must(err)
	fmt.Println(answer.Header.Revision)
}

var now = metav1.Now()

// The bytes that a controller's objects have and no proxy reads.
var managedFields = []metav1.ManagedFieldsEntry{{
	Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &now, FieldsType: "FieldsV1",
	FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},` +
		`"f:spec":{"f:ports":{".":{},"k:{\"port\":80}":{".":{},"f:name":{},"f:port":{}}}}}`)},
}}

func pointer[T any](value T) *T { return &value }

// The i-th address from 10.BASE.0.0 on.
func address(base, i int) string {
	return fmt.Sprintf("10.%d.%d.%d", base+(i>>16), (i>>8)&255, i&255)
}

func metadata(i, kind int, namespace, name string, labels map[string]string) metav1.ObjectMeta {
	uid := types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", i, kind))
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, CreationTimestamp: now, UID: uid,
		Generation: 1, ManagedFields: managedFields}
}

func service(i int, namespace, name string) *corev1.Service {
	clusterIP := address(96, 256+i)
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metadata(i, 1, namespace, name, map[string]string{"app": name, "tier": "backend"}),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: clusterIP, ClusterIPs: []string{clusterIP},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: pointer(corev1.IPFamilyPolicySingleStack),
			InternalTrafficPolicy: pointer(corev1.ServiceInternalTrafficPolicyCluster),
			SessionAffinity:       corev1.ServiceAffinityNone, Selector: map[string]string{"app": name},
			Ports: []corev1.ServicePort{
				{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}},
		},
	}
}

func slice(i, endpoints int, namespace, service string) *discovery.EndpointSlice {
	result := &discovery.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metadata(i, 2, namespace, service+"-x", map[string]string{
			"kubernetes.io/service-name":             service,
			"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}),
		AddressType: discovery.AddressTypeIPv4,
		Ports: []discovery.EndpointPort{
			{Name: pointer("http"), Port: pointer(int32(8080)), Protocol: pointer(corev1.ProtocolTCP)}},
	}
	result.GenerateName = service + "-"
	for k := 0; k < endpoints; k++ {
		pod := fmt.Sprintf("%s-7d9f6c5b8-%05d", service, k)
		result.Endpoints = append(result.Endpoints, discovery.Endpoint{
			Addresses: []string{address(112, i*endpoints+k)},
			NodeName:  pointer(fmt.Sprintf("worker-%d", (i+k)%500)), Zone: pointer("zone-a"),
			Conditions: discovery.EndpointConditions{
				Ready: pointer(true), Serving: pointer(true), Terminating: pointer(false)},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pod,
				UID: types.UID(fmt.Sprintf("%08x-1111-4000-8000-%012x", i, k))},
		})
	}
	return result
}

func node() *corev1.Node {
	return &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "worker-1", UID: "n1", CreationTimestamp: now, Labels: map[string]string{
			"kubernetes.io/hostname": "worker-1", "topology.kubernetes.io/zone": "zone-a"}},
		Spec: corev1.NodeSpec{PodCIDR: "10.112.1.0/24", PodCIDRs: []string{"10.112.1.0/24"}},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: "10.20.0.11"}, {Type: corev1.NodeInternalIP, Address: "fd20::11"}}},
	}
}

func main() {
	services := flag.Int("services", 0, "how many Services to write")
	endpoints := flag.Int("endpoints", 2, "how many endpoints each has")
	compact := flag.Bool("compact", false, "forget what was before now")
	flag.Parse()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}, DialTimeout: 10 * time.Second})
	must(err)
	s := store{etcd: etcd, format: protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)}
	for i := 0; i < *services; i++ {
		namespace, name := fmt.Sprintf("team-%d", i%20), fmt.Sprintf("svc-%d", i)
		s.put("services/specs/"+namespace+"/"+name, service(i, namespace, name))
		s.put("endpointslices/"+namespace+"/"+name+"-x", slice(i, *endpoints, namespace, name))
	}
	if *services > 0 {
		s.put("minions/worker-1", node())
		s.flush()
	}
	if *compact {
		s.compact()
	}
}
