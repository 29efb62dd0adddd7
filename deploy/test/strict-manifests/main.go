// Command strict-manifests reads Kubernetes manifests from standard input and decodes each into the type
// of its kind, strictly: fields that the type lacks or that stand twice are errors. It prints one line for
// each manifest that is wrong, and exits with 1 if there was one.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	strict "sigs.k8s.io/yaml"
)

// The kinds that the manifests use.
var kinds = map[string]func() any{
	"v1 ConfigMap":                            func() any { return &corev1.ConfigMap{} },
	"v1 Namespace":                            func() any { return &corev1.Namespace{} },
	"v1 PersistentVolumeClaim":                func() any { return &corev1.PersistentVolumeClaim{} },
	"v1 Secret":                               func() any { return &corev1.Secret{} },
	"v1 Service":                              func() any { return &corev1.Service{} },
	"v1 ServiceAccount":                       func() any { return &corev1.ServiceAccount{} },
	"apps/v1 Deployment":                      func() any { return &appsv1.Deployment{} },
	"apps/v1 StatefulSet":                     func() any { return &appsv1.StatefulSet{} },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"batch/v1 CronJob":                        func() any { return &batchv1.CronJob{} },
	"batch/v1 Job":                            func() any { return &batchv1.Job{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() any { return &gatewayv1.HTTPRoute{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoringv1.ServiceMonitor{} },
	"networking.k8s.io/v1 Ingress":            func() any { return &networkingv1.Ingress{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networkingv1.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policyv1.PodDisruptionBudget{} },
	"rbac.authorization.k8s.io/v1 Role":        func() any { return &rbacv1.Role{} },
	"rbac.authorization.k8s.io/v1 RoleBinding": func() any { return &rbacv1.RoleBinding{} },
}

type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func check(document []byte) error {
	var found head
	if err := strict.Unmarshal(document, &found); err != nil {
		return err
	}
	name := found.APIVersion + " " + found.Kind
	create, known := kinds[name]
	if !known {
		return fmt.Errorf("%s %s: a kind that is not looked at", name, found.Metadata.Name)
	}
	if err := strict.UnmarshalStrict(document, create()); err != nil {
		return fmt.Errorf("%s %s: %w", name, found.Metadata.Name, err)
	}
	return nil
}

func main() {
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	decoded, broken := 0, 0
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = check(document)
		}
		if err != nil {
			broken++
			fmt.Println(err)
			continue
		}
		decoded++
	}
	if broken > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d manifests\n", decoded)
}
